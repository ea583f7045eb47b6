-- Restores the access of a deactivated customer, and of the API keys that were not revoked. Replace the e-mail address.
-- A ban that was set in Authentication remains.
update public.customers as customer set is_active = true
from admin.customer_named('<e-mail address>') as named
where customer.id = named.id
returning customer.email, customer.full_name, customer.is_active;
