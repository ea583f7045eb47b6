-- Locks a customer out: ends the sessions, blocks sign-in and rejects the API keys. Access tokens remain valid for up
-- to an hour. Replace the e-mail address.
update public.customers as customer set is_active = false
from admin.customer_named('<e-mail address>') as named
where customer.id = named.id
returning customer.email, customer.full_name, customer.is_active;
