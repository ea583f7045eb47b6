-- Issues an API key that acts as one customer. Copy the key from the result, because it is shown only once.
-- Replace the name of the key's user and the e-mail address of an existing account.
-- scope is all, read (writes nothing) or catalogue (reads only what is the same for all users).
-- To let the key expire, write the moment instead of null, for example: admin.moment('2030-01-01 00:00 UTC')
select * from admin.create_api_key('<name>', '<e-mail address>', expires_at => null, scope => 'all');
