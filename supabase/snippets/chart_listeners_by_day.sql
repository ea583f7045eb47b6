-- Number of users who played a sound on each of the last 30 days. Choose Chart above the result to see a chart.
select day, listeners from admin.listeners_by_day where day > current_date - 30 order by day;
