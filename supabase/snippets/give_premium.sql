-- Gives a customer premium until a moment, from the next request on. Replace the e-mail address and the moment. For
-- premium without end write 'infinity', to take it away null instead of the quoted moment.
select email, public.set_premium(id, '<2030-01-04 09:30 Europe/Berlin>') as is_set
from public.customers where lower(email) = lower('<e-mail address>');
