/** The fields of a form that was made from a schema, each with what is wrong with it. */

import { useId } from "preact/hooks";
import type { Json } from "../../log/events";
import type { Entered, Field, Trouble } from "./schema";

type Filling = { entered: Entered; troubles: readonly Trouble[]; enter: (path: string, text: string) => void };

export function Fields({ field, ...filling }: Filling & { field: Field }) {
  if (field.kind !== "object") return <One field={field} {...filling} />;
  const inside = field.fields.map((each) => <Fields key={each.path} field={each} {...filling} />);
  if (field.path === "$") return <>{inside}</>;
  return (
    <fieldset>
      <legend>{field.label}</legend>
      {field.hint && <p class="faint">{field.hint}</p>}
      {inside}
    </fieldset>
  );
}

type Single = Exclude<Field, { kind: "object" }>;

function One({ field, entered, troubles, enter }: Filling & { field: Single }) {
  const id = useId();
  const trouble = troubles.find(({ path }) => path === field.path)?.what;
  const value = entered[field.path] ?? "";
  const isOptional = !field.isRequired || field.isNullable;
  const shared = {
    id,
    "aria-invalid": trouble !== undefined,
    "aria-describedby": trouble || field.hint ? `${id}-about` : undefined,
    "data-path": field.path,
  };
  const take = (event: { currentTarget: { value: string } }) => enter(field.path, event.currentTarget.value);
  return (
    <div class="field">
      <label for={id}>
        {field.label}
        {isOptional && <span class="faint"> (may be left empty)</span>}
      </label>
      {field.kind === "choice" || field.kind === "yes" ? (
        <select {...shared} value={value} onChange={take}>
          <option value="">{isOptional ? "none" : "choose…"}</option>
          {optionsOf(field).map(([text, label]) => (
            <option key={text} value={text}>
              {label}
            </option>
          ))}
        </select>
      ) : field.kind === "json" || field.kind === "list" ? (
        <textarea
          {...shared}
          class={field.kind === "json" ? "mono" : undefined}
          rows={Math.min(10, value.split("\n").length + 1)}
          spellcheck={false}
          placeholder={field.kind === "json" ? "JSON" : "one in each line, or separated by commas"}
          value={value}
          onInput={take}
        />
      ) : (
        <input
          {...shared}
          type="text"
          inputMode={field.kind === "text" ? "text" : field.kind === "integer" ? "numeric" : "decimal"}
          autocomplete="off"
          value={value}
          onInput={take}
        />
      )}
      {(trouble || field.hint) && (
        <p id={`${id}-about`} class={trouble ? "failure" : "faint"}>
          {trouble ?? field.hint}
        </p>
      )}
    </div>
  );
}

function optionsOf(field: Single): [text: string, label: string][] {
  if (field.kind === "yes") return [["true", "yes"], ["false", "no"]];
  const named = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));
  return field.kind === "choice" ? field.options.map((each) => [JSON.stringify(each), named(each)]) : [];
}
