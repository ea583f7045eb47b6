-- Locks a customer out: ends the sessions, blocks sign-in and rejects the API keys. Access tokens remain valid for up
-- to an hour. Replace the e-mail address.
update public.customers set is_active = false
where lower(email) = lower('<e-mail address>')
returning email, full_name, is_active;
