-- Let a deactivated customer in again. Their API keys work again too, except revoked ones. Replace the e-mail address.
-- A ban that was set in Authentication is a thing of its own and stays.
update public.customers set is_active = true
where lower(email) = lower('<e-mail address>')
returning email, full_name, is_active;
