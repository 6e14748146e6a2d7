/** What a command is given by the process that it runs in, and what it answers with. */
import { visibleJson, visibleText } from '../../domain/kernel/sentence.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import { type Terminal, terminalOf, visibleIn } from './terminal.ts';

/** Everything of the process that commands use to speak and to be told, so that several may run in one process. */
export interface CommandIo {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the user calls the program. Default: `headroom`. */
  readonly name?: string;
  /** The kubeconfig where none is named. Default: none. */
  readonly defaultKubeconfig?: string | undefined;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** All of standard input. @throws the file system's error where it cannot be read. */
  readonly readStdin: () => string;
}

interface OutputStream {
  readonly write: (text: string) => unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** What one run of the command line prints, and the exit code with which it ends. */
export class Output {
  readonly #io: CommandIo;
  #exitCode: number = exitCodes.stopped;

  constructor(io: CommandIo) {
    this.#io = io;
  }

  get exitCode(): number {
    return this.#exitCode;
  }

  get terminal(): Terminal {
    return terminalOf(this.#io.stdout, this.#io.env);
  }

  /** Text that has its line breaks, on standard output. Hidden characters of foreign text are shown by their number. */
  text(text: string): void {
    this.#io.stdout.write(visibleIn(text, this.terminal));
  }

  /** What another program reads byte by byte; on a terminal it is a text as any other. */
  exact(text: string): void {
    if (this.#io.stdout.isTTY === true) this.text(text);
    else this.#io.stdout.write(text);
  }

  line(text: string): void {
    this.text(`${text}\n`);
  }

  json(value: unknown): void {
    this.line(visibleJson(JSON.stringify(value, null, 2)));
  }

  /** A sentence beside the answer, on standard error. */
  note(sentence: string): void {
    this.beside(`${sentence}\n`);
  }

  /** Text that has its line breaks, on standard error. */
  beside(text: string): void {
    this.#io.stderr.write(visibleText(text));
  }

  /** Says on standard error why the command fails, and with which exit code it ends. */
  fail(message: string, code: number): void {
    this.note(message);
    this.endWith(code);
  }

  endWith(code: number): void {
    this.#exitCode = code;
  }
}
