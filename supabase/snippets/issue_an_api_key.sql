-- Issues an API key that acts as one customer. Copy the key from the result, because it is shown only once.
-- Replace the name of the key's user and the e-mail address of an existing account.
-- To let the key expire, add a third argument, for example: admin.moment('2030-01-01 00:00 UTC')
select * from admin.create_api_key('<name>', '<e-mail address>');
