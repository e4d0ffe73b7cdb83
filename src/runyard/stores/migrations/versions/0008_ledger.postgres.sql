-- The run ledger.

select 1;
