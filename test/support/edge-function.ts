import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { expect, inject } from 'vitest';

type Handler = (request: Request) => Promise<Response>;

/** Returns the code in a language under a heading of a page, without the indentation of the list that contains it. */
export function codeIn(page: string, language: 'ts' | 'sql', heading: string): string {
  const [, chapter = ''] = readFileSync(page, 'utf8').split(`\n## ${heading}\n`);
  const block = new RegExp(`^ {3}\`\`\`${language}\n(.*?)^ {3}\`\`\`$`, 'ms').exec(chapter.split('\n## ')[0] ?? '');
  if (block?.[1] === undefined) throw new Error(`${page} has no code in ${language} under "${heading}".`);
  return block[1].replaceAll(/^ {3}/gm, '');
}

/**
 * Waits until the data API can call a function that was just created, because it reads the schema again only later.
 * @param args arguments of a call that changes nothing
 */
export async function untilCallable(name: string, args: object): Promise<void> {
  const { apiUrl, secretKey } = inject('stack');
  const headers = { apikey: secretKey, 'Content-Type': 'application/json' };
  const call = () => fetch(`${apiUrl}/rest/v1/rpc/${name}`, { method: 'POST', headers, body: JSON.stringify(args) });
  await expect.poll(async () => (await call()).status).toBe(200);
}

/**
 * Starts the Edge Function of a page against the local stack.
 * @param packages exports of the npm packages that it imports, by their names
 * @param env further settings, besides the address and key of the project
 * @returns the handler of the function, and the lines that it logs
 */
export function startEdgeFunction(code: string, packages: Record<string, object>, env: Record<string, string>) {
  const { apiUrl, secretKey } = inject('stack');
  const all: Record<string, string> = {
    SUPABASE_URL: apiUrl,
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: secretKey }),
    ...env,
  };
  const found: { handler?: Handler } = {};
  const deno = {
    serve: (handler: Handler) => Object.assign(found, { handler }),
    env: { get: (name: string) => all[name] },
  };
  const logged: string[] = [];
  const log = (...parts: unknown[]) => void logged.push(parts.map(String).join(' '));
  const script = stripTypeScriptTypes(code).replaceAll(
    /^import (.*) from 'npm:(.*?)@\d+';$/gm,
    "const $1 = packages['$2'];",
  );
  new Function('Deno', 'console', 'packages', script)(deno, { log, error: log }, packages);
  const { handler } = found;
  if (handler === undefined) throw new Error('The code does not call Deno.serve.');
  return { handler, logged };
}
