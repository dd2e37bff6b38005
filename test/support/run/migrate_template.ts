/**
 * Migrates the template database of the tests: `node test/support/run/migrate_template.ts <folder>`. `test/run.ts`
 * starts it as a process, so that a source file that fails to load fails the tests and not the run.
 */
import { makeTemplate } from '../databases/copy_template.ts';

process.stdout.write(await makeTemplate(process.argv[2] ?? '.'));
