/** Builds `dist` for the package: ES modules, CommonJS, declarations. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

rmSync('dist', { recursive: true, force: true });
for (const project of ['tsconfig.build.json', 'tsconfig.commonjs.json'])
  execFileSync('tsc', ['--project', project], { stdio: ['ignore', 2, 2] });
writeFileSync('dist/commonjs/package.json', JSON.stringify({ type: 'commonjs' }));
copyFileSync('../../LICENSE', 'LICENSE');

// Escape letters, because a page without a charset reads a script as Latin-1, and patterns of letters then end it.
for (const file of globSync('dist/**/*.{js,map}')) {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  writeFileSync(file, readFileSync(file, 'utf8').replace(/[\u0080-\uffff]/g, escaped));
}
