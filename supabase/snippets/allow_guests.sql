-- Allows guests, who listen without an account. Switch on "Allow anonymous sign-ins" under Authentication, Sign In /
-- Providers, too: each switch alone opens nothing. docs/operate.md says what they open.
insert into private.guests_allowed default values on conflict (is_allowed) do nothing;
select allowed_at as guests_allowed_since from private.guests_allowed;
