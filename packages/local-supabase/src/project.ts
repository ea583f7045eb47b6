import { pathToFileURL } from 'node:url';

/** Folder that holds `supabase/`: the current folder, as for the Supabase CLI. */
export const projectFolder = pathToFileURL(`${process.cwd()}/`);
