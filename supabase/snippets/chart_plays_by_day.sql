-- Number of plays of all sounds on each of the last 30 days. Choose Chart above the result to see a chart.
select day, sum(plays) as plays
from admin.plays_by_day
where day > current_date - 30
group by day
order by day;
