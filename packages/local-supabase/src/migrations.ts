import { readdirSync, readFileSync } from 'node:fs';
import postgres from 'postgres';
import { projectFolder } from './project.ts';

export const migrationsFolder = new URL('supabase/migrations/', projectFolder);

/** Compares the files in supabase/migrations with the migrations that the CLI has recorded in a database. */
export async function migrationDrift(databaseUrl: string) {
  const history = await appliedMigrations(databaseUrl);
  const files = readdirSync(migrationsFolder).filter((file) => file.endsWith('.sql'));
  const changed = files.flatMap((file) => {
    const applied = history.find(({ version }) => version === versionOf(file));
    if (!applied?.statements) return [];
    const text = readFileSync(new URL(file, migrationsFolder), 'utf8');
    const same = withoutSeparators(text) === withoutSeparators(applied.statements.join(''));
    return same ? [] : [path(file)];
  });
  const versions = new Set(files.map(versionOf));
  const applied = new Set(history.map(({ version }) => version));
  const pending = files.filter((file) => !applied.has(versionOf(file)));
  const last = history.at(-1)?.version ?? '';
  const late = pending.find((file) => versionOf(file) < last);
  return {
    /** Files whose version was applied with other statements. */
    changed,
    /** Applied migrations without a file, as `<version>_<name>.sql`. */
    missing: history.filter(({ version }) => !versions.has(version)).map(nameOf),
    /** Files that have not been applied. */
    pending: pending.map(path),
    /** First pending file that is older than the last applied migration, and the version of that migration. */
    late: late && { file: path(late), last },
  };
}

interface AppliedMigration {
  version: string;
  name: string | null;
  statements: string[] | null;
}

const path = (file: string) => `supabase/migrations/${file}`;
const versionOf = (file: string) => file.split('_', 1)[0] ?? '';
const nameOf = ({ version, name }: AppliedMigration) => (name ? `${version}_${name}.sql` : version);

async function appliedMigrations(databaseUrl: string): Promise<AppliedMigration[]> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  try {
    const [row] = await sql`select to_regclass('supabase_migrations.schema_migrations') is null as untouched`;
    if (row?.['untouched']) return [];
    return await sql<AppliedMigration[]>`
      select version, name, statements from supabase_migrations.schema_migrations order by version`;
  } finally {
    await sql.end();
  }
}

/** Removes semicolons and white space, because the CLI records statements without them. */
const withoutSeparators = (text: string) => text.replace(/[\s;]+/g, '');
