import { testPgtap } from './pgtap-suite.ts';

testPgtap('PostgreSQL 15 in use', 15, 'supabase/seed.sql', 'tools/migration/usage.sql');
