import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

interface Package {
  name: string;
  private?: boolean;
  version: string;
  scripts?: Record<string, string>;
  dependencies?: Record<string, string>;
}

const read = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8'));
const root = read<Package>('package.json');
const workspaces = globSync(['{packages,tools}/*/package.json', 'examples/player/package.json']).map(read<Package>);

test('every workspace but the published client is private and has a scoped name', () => {
  expect(workspaces.length).toBeGreaterThan(6);
  for (const { name, private: isPrivate } of workspaces.filter(({ name }) => name !== 'sounds-client'))
    expect([name, isPrivate]).toEqual([expect.stringMatching(/^@sounds-service\/[a-z-]+$/), true]);
});

test('the client has the version of the service, and the repository that its provenance names', () => {
  const client = workspaces.find(({ name }) => name === 'sounds-client');
  const directory = 'packages/client';
  expect(client).toMatchObject({ version: root.version, repository: { type: 'git', directory } });
});

// npm on an older Node would otherwise select an older version, because it prefers those whose engines include it.
test('package.json requires at least the locked version of each production package', () => {
  const { packages } = read<{ packages: Record<string, Package> }>('package-lock.json');
  const dependencies = Object.entries(root.dependencies ?? {});
  expect(dependencies.length).toBeGreaterThan(10);
  for (const [name, range] of dependencies) expect(range).toBe(`^${packages[`node_modules/${name}`]?.version}`);
});

test.for([root, ...workspaces].flatMap(({ name, scripts = {} }) => Object.entries(scripts).map((it) => [name, ...it])))(
  '%s: npm run %s uses no command or syntax that cmd.exe lacks',
  ([, , command = '']) => {
    for (const part of command.split(' && ')) expect(part).toMatch(/^(?:node|npm|tsc|vitest|vite|biome|cd|openapi-)/);
    expect(command.replace(/"(?:[^"])*"/g, '')).not.toMatch(/['$;|]/);
  },
);
