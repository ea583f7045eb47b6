-- Refuses new guests from now on. Present guests keep their sessions, and can still sign up and keep what they did.
delete from private.guests_allowed;
select count(*) as present_guests from public.customers where is_guest;
