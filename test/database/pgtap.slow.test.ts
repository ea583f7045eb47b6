import { testPgtap } from './pgtap-suite.ts';

testPgtap('PostgreSQL 15 without a row, as after supabase db push', 15);
testPgtap('PostgreSQL 17 in use', 17, 'supabase/seed.sql', 'tools/migration/usage.sql');
