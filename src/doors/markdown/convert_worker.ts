/** Worker thread that converts long texts, highlights code and parses notebooks: see `platform/workers/run_in_worker.ts`. */
import { serveTasks } from '../../platform/workers/serve_tasks.ts';
import { convert } from './convert/convert.ts';
import { highlightToLines } from './convert/highlight.ts';
import { mayHaveFormula } from './convert/math/parse_formulas.ts';
import type { ConvertOptions } from './convert/options.ts';
import { parseNotebook } from './notebooks/parse_notebook.ts';

export type ConversionTask =
  | { kind: 'markdown'; text: string; options: ConvertOptions }
  | { kind: 'notebook'; text: string }
  | { kind: 'code'; text: string; language: string }
  /** Texts that do not follow each other, such as the hunks of a diff. */
  | { kind: 'code_parts'; texts: readonly string[]; language: string };

serveTasks(async (sent) => {
  const task = sent as ConversionTask;
  if (task.kind === 'markdown') {
    const formulas = mayHaveFormula.test(task.text)
      ? await import('./convert/math/render_formulas.ts')
      : null;
    return convert(task.text, task.options, formulas?.makeFormulaRenderer());
  }
  if (task.kind === 'notebook') return parseNotebook(task.text);
  return task.kind === 'code'
    ? highlightToLines(task.text, task.language)
    : task.texts.map((text) => highlightToLines(text, task.language));
});
