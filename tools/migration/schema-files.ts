import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'libpg-query';
import postgres from 'postgres';

/**
 * Runs the files in supabase/schemas, in the order of their names.
 * @param databaseUrl a database without any of their objects, as the role `postgres`
 * @param folder supabase/schemas
 * @returns the statements that were run
 * @throws an Error with file, line, statement and the message of Postgres for the first statement that fails
 */
export async function applySchemaFiles(databaseUrl: string, folder: URL): Promise<string[]> {
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  const run: string[] = [];
  try {
    for (const name of readdirSync(folder)
      .filter((file) => file.endsWith('.sql'))
      .toSorted()) {
      const source = readFileSync(new URL(name, folder), 'utf8');
      for (const { text, line } of await statementsOf(name, source)) {
        await sql.unsafe(text).catch((error: postgres.PostgresError) => {
          const failedLine = line + linesBefore(text, Number(error.position ?? 1) - 1);
          const words = [error.message, error.detail, error.hint].filter(Boolean).join('\n');
          throw new Error(fault(name, failedLine, text, words));
        });
        run.push(text);
      }
    }
  } finally {
    await sql.end();
  }
  return run;
}

interface Statement {
  text: string;
  line: number;
}

/** Splits a file into statements with the parser of Postgres. Each has the line on which it begins. */
async function statementsOf(name: string, source: string): Promise<Statement[]> {
  const bytes = Buffer.from(source);
  const { stmts } = await parse(source).catch((error: SyntaxError) => {
    const position = error.sqlDetails?.cursorPosition ?? 0;
    const line = 1 + linesBefore(source, position);
    throw new Error(fault(name, line, source.split('\n')[line - 1] ?? '', error.message));
  });
  return stmts.map(({ stmt_location: start = 0, stmt_len: length }: ParsedStatement) => {
    const text = bytes.subarray(start, length && start + length).toString();
    const comments = /^(\s|--.*\n)*/.exec(text)?.[0] ?? '';
    const line = 1 + linesBefore(bytes.subarray(0, start).toString() + comments);
    return { text: text.slice(comments.length), line };
  });
}

/** Positions in bytes. The parser omits zeros. */
interface ParsedStatement {
  stmt_location?: number;
  stmt_len?: number;
}
type SyntaxError = Error & { sqlDetails?: { cursorPosition: number } };

const linesBefore = (text: string, end = text.length) => text.slice(0, end).split('\n').length - 1;

const fault = (name: string, line: number, statement: string, words: string) =>
  `supabase/schemas/${name}:${line}: ${words}\n\n${statement.trim()}`;
