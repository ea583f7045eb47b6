-- Replaces the sounds of a manual section of the home page by those with the most listeners.
-- Replace the slug, the number of days to look back, and the number of sounds.
select * from admin.fill_section('<slug of the section>', 7, 10);
