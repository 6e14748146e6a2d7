import type { CommandLineController } from '../controller.ts';

export const nodeGroupCommands: CommandLineController = {};
