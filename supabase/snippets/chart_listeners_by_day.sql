-- How many users played something on each of the last 30 days. Choose Chart above the result to see them drawn.
select day, listeners from admin.listeners_by_day where day > current_date - 30 order by day;
