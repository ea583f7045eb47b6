-- Revoke an API key, from its next request on. This cannot be undone.
-- Replace the first 16 characters of the key; list_api_keys shows them as key_prefix.
select * from admin.revoke_api_key('<key_prefix>');
