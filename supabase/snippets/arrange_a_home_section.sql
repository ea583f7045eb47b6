-- Replaces the sounds of a manual section of the home page by these, in this order.
-- Replace the slug and the titles. Write an apostrophe in a title once.
select * from admin.arrange_section('<slug of the section>', array[$$<first title>$$, $$<second title>$$]);
