-- Lock a customer out: their sessions end, they cannot sign in, and their API keys are refused.
-- An access token that they already hold works for at most another hour. Replace the e-mail address.
update public.customers set is_active = false
where lower(email) = lower('<e-mail address>')
returning email, full_name, is_active;
