import { SqliteQueryCompiler } from 'kysely';
import { isConstant } from '../compiled_query.ts';

const limitEnd = 'limit ';

/**
 * Writes limits, and constants of a compiled query, into its text. SQLite replans with each value bound to a limit, or
 * to a column of a partial index, which takes far longer than a lookup.
 */
export class ConstantCompiler extends SqliteQueryCompiler {
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
