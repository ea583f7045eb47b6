import type { Check } from './check.ts';
import { throwAll, Warning } from './problem.ts';

export const environment: Check = {
  name: 'Environment',
  needs: [],
  execute({ config }) {
    throwAll(
      config.unknownVariables.map(
        ({ name, meant }) =>
          new Warning(
            `${name} is set, but the gateway does not read it.`,
            meant === null
              ? 'Remove it, or correct its name. .env.example lists all variables.'
              : `Rename it to ${meant}.`,
          ),
      ),
    );
    return 'No variable is misspelled.';
  },
};
