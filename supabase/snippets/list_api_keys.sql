-- All API keys, the newest first: whose they are, whether they are accepted, and when they were last used.
select * from admin.api_keys;
