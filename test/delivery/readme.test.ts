import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { endpoints } from '../../src/app.ts';

const readme = readFileSync('README.md', 'utf8');
const contributing = readFileSync('CONTRIBUTING.md', 'utf8');
const architecture = readFileSync('docs/architecture.md', 'utf8');
const guide = readFileSync('docs/apps.md', 'utf8');
const operators = readFileSync('docs/deploy.md', 'utf8') + readFileSync('docs/operate.md', 'utf8');
const administrators = readFileSync('docs/admin.md', 'utf8');

/** The name of a heading in links to it, as GitHub makes it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

test('every link of a page leads to a file and to a heading in it', () => {
  const pages = globSync('**/*.md', { exclude: ['**/node_modules/**', '.data/**', '**/.venv/**'] });
  expect(pages.length).toBeGreaterThan(15);
  const links = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]+))?\)/g)].map(
      ([link, path = '', anchor]) => ({
        at: `${page} ${link}`,
        target: join(dirname(page), path),
        path,
        page,
        anchor,
      }),
    ),
  );
  const broken = links.filter(({ target, path, page, anchor }) => {
    const file = path === '' ? page : target;
    if (!existsSync(file)) return true;
    if (anchor === undefined) return false;
    const headings = [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)];
    return !headings.some(([, heading = '']) => anchorOf(heading) === anchor);
  });
  expect(broken.map(({ at }) => at)).toEqual([]);
});

test('every file and folder that a page names exists', () => {
  const paths = [
    ...`${readme}${contributing}${architecture}${guide}${operators}${administrators}`.matchAll(
      /`((?:src|supabase|packages|tools|test|docs|ops|examples)\/[\w./-]*|\.env\.example|compose\.yaml|Dockerfile)`/g,
    ),
  ].map(([, path]) => path ?? '');
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

test.each([
  ['packages/local-supabase', 'packages/local-supabase/src'],
  ['tools/dev', 'tools/dev'],
])('%s/README.md describes each file of its folder and no other', (folder, cwd) => {
  const rows = readFileSync(`${folder}/README.md`, 'utf8').matchAll(/^\| `.+?\|/gm);
  const named = [...rows].flatMap(([files]) =>
    [...files.matchAll(/`([^`]+\.(?:ts|sql))`/g)].map(([, path]) => path),
  );
  const existing = globSync('**/*.{ts,sql}', { cwd, exclude: ['test'] });
  expect(named.sort()).toEqual(existing.sort());
});

test.for(['confirmation', 'recovery', 'invite', 'magic_link', 'email_change', 'reauthentication'])(
  'the mail %s has a template without a link',
  (kind) => {
    const path = `supabase/templates/${kind}.html`;
    const settings = readFileSync('supabase/config.toml', 'utf8');
    expect(settings).toContain(`[auth.email.template.${kind}]\ncontent_path = "./${path}"\n`);
    expect(operators).toContain(`${kind}.html\``);
    const template = readFileSync(path, 'utf8');
    const isForApps = ['confirmation', 'recovery'].includes(kind);
    for (const shown of template.match(/\{\{.*?\}\}/g) ?? []) expect(shown).toBe('{{ .Token }}');
    if (isForApps) expect(template).toContain('{{ .Token }}');
    expect(template).not.toMatch(/href|https?:/i);
  },
);

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  const named = [
    ...`${readme}${contributing}${operators}${administrators}`.matchAll(
      /npm (?:run )?(?:-s )?([a-z]+(?:[:-][a-z]+)*)/g,
    ),
  ]
    .map(([, name]) => name ?? '')
    .filter((name) => !['ci', 'run'].includes(name));
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

test('every table and function that a comment in the source names is made by a migration', () => {
  const migrations = globSync('supabase/**/*.sql')
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const named = globSync('src/**/*.ts')
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .flatMap((line) => [...line.matchAll(/(?:\/\/|\*) .*?\b((?:public|private|admin)\.\w+)/g)])
    .map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(0);
  const made = (name: string) => new RegExp(`create .*${name.replace('.', '\\.')}\\b`).test(migrations);
  expect(named.filter((name) => !made(name))).toEqual([]);
});

test('every variable, alert and metric that the guide for operators names exists', () => {
  const example = readFileSync('.env.example', 'utf8');
  const variables = [...operators.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name]) => name ?? '');
  expect(variables.length).toBeGreaterThan(5);
  expect(variables.filter((name) => !new RegExp(`^#?${name}=`, 'm').test(example))).toEqual([]);
  const rules = readFileSync('ops/alerts.yaml', 'utf8');
  const alerts = [...operators.matchAll(/`(Sounds\w+)`/g)].map(([, name]) => name ?? '');
  expect(alerts.length).toBeGreaterThan(3);
  expect(alerts.filter((name) => !rules.includes(`alert: ${name}\n`))).toEqual([]);
  const metrics = [...operators.matchAll(/`(sounds_\w+)`/g)].map(([, name]) => name ?? '');
  expect(metrics.filter((name) => !readFileSync('src/metrics.ts', 'utf8').includes(`'${name}'`))).toEqual([]);
});

test('every endpoint that the guide for app developers names exists', () => {
  const named = [...guide.matchAll(/`((?:GET|POST|PATCH|DELETE) \/[\w/{}]+)`/g)].map(
    ([, endpoint]) => endpoint,
  );
  expect(named.length).toBeGreaterThan(10);
  const existing = endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  expect(named.filter((endpoint) => !existing.includes(endpoint ?? ''))).toEqual([]);
});
