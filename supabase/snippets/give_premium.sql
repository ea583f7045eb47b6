-- Gives a customer premium until a moment, from the next request on. Replace the e-mail address and the moment. For
-- premium without end write 'infinity', to take it away null instead of the quoted moment.
update public.customers set premium_given_until = '<2030-01-04 09:30 Europe/Berlin>'
where lower(email) = lower('<e-mail address>')
returning email, premium_given_until;
