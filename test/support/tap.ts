/** One assertion of a test that speaks TAP, the Test Anything Protocol. */
export type TapTest = { ok: boolean; name: string; diagnosis: string };

/** What a test printed: how many assertions it announced, and those that it made. */
export type Tap = { planned: number | undefined; tests: TapTest[] };

/** Reads TAP as pgTAP writes it; comment lines that follow an assertion say why it failed. */
export function parseTap(output: string): Tap {
  const tap: Tap = { planned: undefined, tests: [] };
  for (const line of output.split('\n')) {
    const [, not, name] = /^(not )?ok \d+(?: - (.*))?$/.exec(line) ?? [];
    const [, planned] = /^1\.\.(\d+)$/.exec(line) ?? [];
    const last = tap.tests.at(-1);
    if (name !== undefined) tap.tests.push({ ok: not === undefined, name, diagnosis: '' });
    else if (planned !== undefined) tap.planned = Number(planned);
    else if (line.startsWith('# ') && last) last.diagnosis += `${line.slice(2)}\n`;
  }
  return tap;
}
