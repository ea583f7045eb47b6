-- Gives a customer premium until a moment, from the next request on. Replace the e-mail address and the moment; write
-- the zone as a name with a slash, UTC or an offset (+01:00). For premium without end write 'infinity', to take it away
-- null instead of the quoted moment.
select * from admin.give_premium('<e-mail address>', '<YYYY-MM-DD HH:MM Europe/Berlin>');
