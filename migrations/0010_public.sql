-- PostgreSQL lets everyone call a new function. Nothing of Errata's is everyone's: the definitions take that back each time
-- they are made (sql/), and this does so for what a migration made.
revoke execute on function /*:schema*/errata/*.*/.refuse_act_change() from public;
