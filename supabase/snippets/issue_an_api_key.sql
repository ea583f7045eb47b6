-- Issues an API key that acts as one customer. Copy the key from the result, because it is shown only once.
-- Replace the name of the key's user and the e-mail address of an existing account.
-- scope is all, read (writes nothing) or catalogue (reads only what is the same for all users).
-- To let the key expire, write the moment instead of null: admin.moment('<YYYY-MM-DD HH:MM Europe/Berlin>')
select * from admin.create_api_key('<name>', '<e-mail address>', expires_at => null, scope => 'all');
