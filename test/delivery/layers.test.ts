import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

/** Parts of a folder from top to bottom, and the parts that each may import. "*" stands for files without a line. */
const layers: Record<string, string> = {
  src: `
    doctor/      doctor/ app.ts routes/ openapi/ pages/ http/ endpoint.ts context.ts apple/ supabase/ limits/ model/ shared/ config/ *
    server.ts            app.ts routes/ openapi/ pages/ http/ endpoint.ts context.ts apple/ supabase/ limits/ model/ shared/ config/ *
    app.ts                      routes/ openapi/ pages/ http/ endpoint.ts context.ts apple/ supabase/ limits/ model/ shared/ config/ *
    routes/                                                   endpoint.ts context.ts apple/ supabase/         model/ shared/ config/ *
    openapi/                            openapi/        http/ endpoint.ts context.ts                          model/ shared/ config/ *
    pages/                                              http/             context.ts                                 shared/ config/ *
    http/                                               http/ endpoint.ts context.ts                  limits/ model/ shared/ config/ *
    endpoint.ts                                                           context.ts                  limits/ model/ shared/ config/ *
    context.ts                                                                       apple/ supabase/ limits/ model/ shared/ config/ *
    apple/                                                                           apple/                   model/ shared/ config/ *
    supabase/                                                                               supabase/         model/ shared/ config/ *
    limits/                                                                                           limits/ model/ shared/ config/ *
    model/                                                                                                    model/ shared/ config/ *
    shared/                                                                                                          shared/ config/ *
    config/                                                                                                          shared/ config/ *
    *                                                                                                                                *`,
  'tools/catalogue': `
    test/        test/ * export/ apply/ plan/ identify/ read/ project/ shared/
    *                  * export/ apply/ plan/ identify/ read/ project/ shared/
    export/              export/                       read/ project/ shared/
    apply/                       apply/ plan/ identify/ read/ project/ shared/
    plan/                               plan/ identify/ read/ project/ shared/
    identify/                                 identify/ read/ project/ shared/
    read/                                               read/ project/ shared/
    project/                                                  project/ shared/
    shared/                                                            shared/`,
};

const steps = Object.entries(layers).map(([folder, picture]) => {
  const rows = picture
    .trim()
    .split('\n')
    .map((row) => row.trim().split(/ +/));
  const partOf = (path: string) =>
    rows.map(([part = '']) => part).find((part) => path.startsWith(`${folder}/${part}`)) ?? '*';
  return { folder, partOf, allowed: new Map(rows.map(([part = '', ...below]) => [part, below])) };
});

/** Returns src, test or the workspace that contains a file. */
const houseOf = (path: string) => /^(src|test|(tools|packages|examples)\/[^/]+)(?=\/)/.exec(path)?.[0];

/** Matches files that import no file of another workspace: code that is shipped, and the steps of the import. */
const isClosed = /^(src|(packages|examples)\/[^/]+\/src|tools\/catalogue\/(?!test\/)[^/]+)\//;

/** Generated types of the database, which the import uses as well. */
const generatedTypes = 'src/supabase/database.types.ts';

/** Tells whether a file may import another one by a path. */
function mayImport(file: string, target: string) {
  const [from, to] = [houseOf(file), houseOf(target)];
  if (from === 'tools/catalogue' && target === generatedTypes) return true;
  if (from !== to) return !isClosed.test(file) && (to === 'src' || to === 'test');
  const step = steps.find(({ folder }) => folder === from);
  return step === undefined || step.allowed.get(step.partOf(file))?.includes(step.partOf(target)) === true;
}

test('src has at most eight files at its top, and each of its folders a README', () => {
  const entries = readdirSync('src', { withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile()).length).toBeLessThanOrEqual(8);
  const rooms = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(rooms.filter((room) => !existsSync(`src/${room}/README.md`))).toEqual([]);
});

test('every file imports only what its layer allows', () => {
  const files = globSync('{src,test,tools,packages,examples}/**/*.{ts,js,mjs}', { exclude: ['**/node_modules/**'] });
  const imports = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(?:\bfrom|\bimport\(?)\s*['"](\.[^'"]*)['"]/g)].map(([, path = '']) => ({
      file,
      target: join(dirname(file), path),
    })),
  );
  expect(imports.length).toBeGreaterThan(1_000);
  const wrong = imports.filter(({ file, target }) => !mayImport(file, target));
  expect(wrong.map(({ file, target }) => `${file} must not import ${target}`)).toEqual([]);
});
