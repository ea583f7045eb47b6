-- Restores the access of a deactivated customer, and of the API keys that were not revoked. Replace the e-mail address.
-- A ban that was set in Authentication remains.
update public.customers set is_active = true
where lower(email) = lower('<e-mail address>')
returning email, full_name, is_active;
