-- Issue an API key that acts as one customer. The key is shown once: copy it from the result before you close it.
-- Replace the name (who will use the key) and the e-mail address (of an account that exists).
-- For a key that expires, add a third argument, for example: timestamptz '2030-01-01'
select * from admin.create_api_key('<name>', '<e-mail address>');
