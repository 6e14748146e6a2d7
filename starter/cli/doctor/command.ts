/** `headroom doctor`: whether everything that Headroom needs is there, and how to mend what is not. */
import type { Command } from 'commander';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import type { CommandTools } from '../controller.ts';

interface DoctorFlags {
  readonly workerAccount?: string;
  readonly starterAccount?: string;
}

export function addDoctorCommand(program: Command, tools: CommandTools): void {
  program
    .command('doctor')
    .description('check everything that Headroom needs, and say how to mend what is wrong; it changes nothing')
    .option('--worker-account <user>', 'the account of the worker, as the API server calls it')
    .option('--starter-account <user>', 'the account of the starter')
    .action(async ({ workerAccount, starterAccount }: DoctorFlags) => {
      await tools.run(async (loaded) => {
        const { examine } = await import('./examine.ts');
        const { doctorText } = await import('./text.ts');
        const findings = await examine(loaded, {
          ...(workerAccount === undefined ? {} : { worker: workerAccount }),
          ...(starterAccount === undefined ? {} : { starter: starterAccount }),
        });
        const { output } = tools;
        const has = (wanted: string): boolean => findings.some(({ status }) => status === wanted);
        if (tools.shared().output === 'json') {
          output.json({ cluster: loaded.config.kubernetes.clusterName, isWell: !has('wrong'), findings });
        } else output.text(doctorText(findings));
        if (has('wrong')) output.endWith(exitCodes.failed);
        else if (has('unknown')) output.endWith(exitCodes.incomplete);
      });
    });
}
