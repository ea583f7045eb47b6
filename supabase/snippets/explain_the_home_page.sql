-- What the home page shows now, section by section, and why a sound that could be there is not.
select * from admin.home_explained;
