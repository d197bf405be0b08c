/** Problems of CSV files, by the error codes of csv-parse. */
import type { CsvError } from 'csv-parse';

const AFTER_QUOTE = 'a closing quote is not followed by a separator';

const PROBLEMS: Readonly<Partial<Record<string, string>>> = {
  CSV_INVALID_CLOSING_QUOTE: AFTER_QUOTE,
  CSV_MAX_RECORD_SIZE: 'the row is too long',
  CSV_NON_TRIMABLE_CHAR_AFTER_CLOSING_QUOTE: AFTER_QUOTE,
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_RECORD_INCONSISTENT_COLUMNS: 'the row has a different number of cells than the first row',
  INVALID_OPENING_QUOTE: 'a cell contains a quote but does not begin with one',
};

/** @returns the problem as a predicate of “The file”, with its line, e.g. `is not valid CSV …` */
export function csvProblem({ code, lines }: CsvError): string {
  const problem = PROBLEMS[code] ?? 'the row cannot be read';
  return `is not valid CSV in line ${lines}: ${problem}`;
}
