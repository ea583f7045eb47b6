-- Put sounds into a manual section of the home page, in this order. It replaces what is in the section now.
-- Replace the slug and the titles.
select * from admin.arrange_section('<slug of the section>', array['<first title>', '<second title>']);
