import { pathToFileURL } from 'node:url';

/** The folder that holds `supabase/`: the current one, as for the Supabase CLI. */
export const PROJECT = pathToFileURL(`${process.cwd()}/`);
