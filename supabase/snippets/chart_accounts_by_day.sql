-- Sign-ups, active and deleted accounts, and guests on each of the last 30 days. Choose Chart above the result to see
-- a chart.
select day, sign_ups, active, deleted, guests, active_guests
from admin.accounts_by_day
where day > current_date - 30
order by day;
