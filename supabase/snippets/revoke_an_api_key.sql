-- Revokes an API key from its next request on. This cannot be undone.
-- Replace the first 16 characters of the key, which list_api_keys shows as key_prefix.
select * from admin.revoke_api_key('<key_prefix>');
