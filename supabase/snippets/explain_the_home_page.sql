-- Shows the sounds of each section of the home page, and the reason why other matching sounds are not shown.
select * from admin.home_explained;
