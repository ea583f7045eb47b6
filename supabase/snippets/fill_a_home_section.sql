-- Fill a manual section of the home page with what has the most listeners. It replaces what is in the section now.
-- Replace the slug, the number of days to look back on, and the number of sounds.
select * from admin.fill_section('<slug of the section>', 7, 10);
