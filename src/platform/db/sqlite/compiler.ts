/**
 * Inlines limits and marked constants into the SQL instead of binding them: SQLite prepares the plan again for each new
 * value bound to a limit or compared with a column of a partial index.
 */
import { SqliteQueryCompiler } from 'kysely';
import { isConstant } from '../compiled_query.ts';

const limitEnd = 'limit ';

export class InliningCompiler extends SqliteQueryCompiler {
  #isAfterLimit = false;

  protected override append(text: string): void {
    this.#isAfterLimit = text.endsWith(limitEnd);
    super.append(text);
  }

  protected override appendValue(value: unknown): void {
    const isLimit = this.#isAfterLimit && Number.isSafeInteger(value);
    if (isLimit || isConstant(value)) this.appendImmediateValue(value);
    else super.appendValue(value);
  }
}
