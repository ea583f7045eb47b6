import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { endpoints } from '../../src/app.ts';

const read = (...patterns: string[]) =>
  globSync(patterns)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');

const operators = read('docs/deploy.md', 'docs/operate.md');
const pages = read('README.md', 'CONTRIBUTING.md', 'docs/{architecture,apps,deploy,operate,admin}.md');
const { scripts } = JSON.parse(read('package.json'));
const [example, rules, metrics, sql] = [
  read('.env.example'),
  read('ops/alerts.yaml'),
  read('src/shared/metrics.ts'),
  read('supabase/migrations/*.sql'),
];

const isEndpoint = (name: string) => endpoints.some(({ method, path }) => `${method.toUpperCase()} ${path}` === name);
const isInDatabase = (name: string) => new RegExp(`create .*${name.replace('.', '\\.')}\\b`).test(sql);
const path =
  /`((?:src|supabase|packages|tools|test|docs|ops|examples)\/[\w./-]*|\.env\.example|compose\.yaml|Dockerfile)`/g;
const comment = /(?:\/\/|\*) .*?\b((?:public|private|admin)\.\w+)/g;

test.for([
  ['file or folder', pages, path, existsSync],
  [
    'npm script',
    pages,
    /npm (?:run )?(?:-s )?(?!(?:ci|run|package|exec|install|outdated|update|version)\b)([a-z]+(?:[:-][a-z]+)*)/g,
    (name) => name in scripts,
  ],
  ['endpoint', read('docs/apps.md'), /`((?:GET|POST|PATCH|DELETE) \/[\w/{}]+)`/g, isEndpoint],
  [
    'variable',
    operators,
    /`((?!NODE_|HTTPS_PROXY|NO_PROXY)[A-Z]+(?:_[A-Z]+)+)`/g,
    (name) => new RegExp(`^#?${name}=`, 'm').test(example),
  ],
  ['alert', operators, /`(Sounds\w+)`/g, (name) => rules.includes(`alert: ${name}\n`)],
  ['metric', operators, /`(sounds_\w+)`/g, (name) => metrics.includes(`'${name}'`)],
  ['table and function', read('src/**/*.ts'), comment, isInDatabase],
] as [string, string, RegExp, (name: string) => boolean][])(
  'every %s that pages or comments mention exists',
  ([, text, pattern, exists]) => {
    const named = [...text.matchAll(pattern)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !exists(name))).toEqual([]);
  },
);

test('every link of a page leads to an existing file and heading', () => {
  const anchorsOf = (file: string) =>
    [...read(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
  const all = globSync('**/*.md', { exclude: ['**/node_modules/**', '.data/**', '**/.venv/**'] });
  expect(all.length).toBeGreaterThan(15);
  const broken = all.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]+))?\)/g)]
      .filter(([, target = '', anchor]) => {
        const file = target === '' ? page : join(dirname(page), target);
        return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor));
      })
      .map(([link]) => `${page} ${link}`),
  );
  expect(broken).toEqual([]);
});

test('the section about read replicas names every read that they answer', () => {
  const [, section = ''] = read('docs/operate.md').split(/^### Read replicas|^## Backup/m);
  const reads = endpoints.filter(({ cache, path }) => cache === 'shared' && path !== '/config'); // Auth answers this one
  expect(reads.map(({ path }) => path).filter((path) => !section.includes(`${path}\``))).toEqual([]);
});

test.for([
  ['packages/local-supabase', 'packages/local-supabase/src'],
  ['tools/dev', 'tools/dev'],
] as const)('%s/README.md describes each file of the folder and no other', ([folder, cwd]) => {
  const rows = [...read(`${folder}/README.md`).matchAll(/^\| `.+?\|/gm)].join('\n');
  const named = [...rows.matchAll(/`([^`]+\.(?:ts|sql))`/g)].map(([, name]) => name);
  expect(named.sort()).toEqual(globSync('**/*.{ts,sql}', { cwd, exclude: ['test'] }).sort());
});

test.for([
  ['confirmation', ['{{ .Token }}']],
  ['recovery', ['{{ .Token }}']],
  ['reauthentication', ['{{ .Token }}']],
  ['invite', null],
  ['magic_link', null],
  ['email_change', null],
] as const)('the mail %s has a template without a link', ([kind, values]) => {
  const template = `supabase/templates/${kind}.html`;
  expect(read('supabase/config.toml')).toContain(`[auth.email.template.${kind}]\ncontent_path = "./${template}"\n`);
  expect(operators).toContain(`${kind}.html\``);
  expect(read(template).match(/\{\{.*?\}\}/g)).toEqual(values);
  expect(read(template)).not.toMatch(/href|https?:/i);
});
