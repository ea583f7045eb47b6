-- Lists all API keys, newest first, with their owner, scope, state and the time of the last use.
select * from admin.api_keys;
