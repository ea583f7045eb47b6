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
            `${name} is set, and the gateway does not read it.`,
            meant === null
              ? 'Take it out, or correct its name: .env.example lists all.'
              : `Rename it to ${meant}.`,
          ),
      ),
    );
    return 'Every variable that looks like one of the gateway is one.';
  },
};
